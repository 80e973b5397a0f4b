// Shown to a browser that is not logged in: where an address comes from, and a field for one that was copied.
import { useId, useState } from "preact/hooks";
import { tokenOf } from "../model/place.ts";
import { usePage } from "./page-context.ts";

export function LogInPage({ problem }: { problem: string }) {
  const page = usePage();
  const id = useId();
  const [failed, setFailed] = useState("");
  const logIn = async (address: string): Promise<void> => {
    const token = tokenOf(address);
    setFailed(token === undefined ? "This is no address of the console: it has no #token= at its end." : "");
    if (token !== undefined) setFailed(await page.logIn(token));
  };
  return (
    <main class="log-in">
      <h1>acp-master console</h1>
      {(failed || problem) !== "" && (
        <p class="warning" role="alert">
          {failed || problem}
        </p>
      )}
      <p>
        This browser is not logged in. Run <code>acp-master console</code> in a terminal: it prints an address that logs
        in once.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const address = new FormData(event.currentTarget).get("address");
          if (typeof address === "string") void logIn(address);
        }}
      >
        <label for={id}>Or paste the address here</label>
        <input id={id} name="address" type="text" required autocomplete="off" spellcheck={false} />
        <button type="submit" class="primary">
          Log in
        </button>
      </form>
    </main>
  );
}
