// The page's first file.
import { render } from "preact";

render(<p>acp-master</p>, document.body);
