// Answers that the shim gives in the master's place, as JSON-RPC errors under the editor's own ids, and what it says to people.
import { visibleLine } from "../display/untrusted-text.ts";
import { fault, type RpcError } from "../protocol/reasons.ts";

/** `id` is the raw JSON value. */
export function errorFrame(id: Buffer, error: RpcError): Buffer {
  return Buffer.concat([
    Buffer.from('{"jsonrpc":"2.0","id":'),
    id,
    Buffer.from(`,"error":${JSON.stringify(error)}}\n`),
  ]);
}

export const restarted = (message: string): RpcError => fault("daemon_restarted", message);

/** `closed`: why the daemon, which still runs, has closed this connection. */
export function lostDaemon(closed?: string): RpcError {
  return restarted(
    closed === undefined
      ? "The acp-master daemon ended before it answered. What it did until then is kept; send the request again if it is still wanted."
      : `The acp-master daemon closed this connection before it answered: ${closed}. Connect again and load the session.`,
  );
}

/** `closing`: what the daemon said that it ends the connection for. */
export function whyGone(closing: string | undefined): string {
  switch (closing) {
    case "stop":
      return "The daemon was stopped. The next connect starts it again.";
    case "restart":
      return "The daemon restarts.";
    case undefined:
      return "The connection to the daemon ended; acp-master logs may say why.";
    default:
      return `The daemon closed this connection: ${visibleLine(closing)}.`;
  }
}
