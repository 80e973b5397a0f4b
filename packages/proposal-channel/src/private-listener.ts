// Makes a server listen where only its owner reaches it, or not at all.
import type { Server } from "node:net";
import type { EndpointPlace, Unsafe } from "./endpoint.ts";

/** `path` is in `folder`. What cannot be proven private is closed again and refused with a message for people. */
export async function listenPrivately(
  server: Server,
  at: { readonly folder: string; readonly path: string },
  place: EndpointPlace,
): Promise<{ readonly ok: true } | Unsafe> {
  const folder = place.checkFolder(at.folder);
  if (!folder.ok) return folder;
  const failure = await listen(server, at.path, place);
  if (failure !== undefined) return { ok: false, message: `Cannot open the socket ${at.path} (${failure}).` };
  const checked = place.checkSocket(at.path);
  if (!checked.ok) await new Promise<void>((resolve) => server.close(() => resolve()));
  return checked;
}

async function listen(server: Server, path: string, place: EndpointPlace): Promise<string | undefined> {
  return await new Promise((resolve) => {
    const onError = (error: Error) => resolve(codeOf(error));
    server.once("error", onError);
    server.once("listening", () => {
      server.removeListener("error", onError);
      resolve(undefined);
    });
    try {
      // The system call happens inside of listen, so the mask covers it.
      place.bindPrivately(() => server.listen(path));
    } catch (error) {
      resolve(codeOf(error));
    }
  });
}

/** The system's code of an error, for logs and messages. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown error";
}
