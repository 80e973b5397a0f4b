// The page's first file: its state, and what shows it.
import { render } from "preact";
import { App } from "./parts/app.tsx";
import { PageContext } from "./parts/page-context.ts";
import { PageState } from "./session/page-state.ts";

const page = new PageState();
await page.start();
render(
  <PageContext.Provider value={page}>
    <App />
  </PageContext.Provider>,
  document.body,
);
