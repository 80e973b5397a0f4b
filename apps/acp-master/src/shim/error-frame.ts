// Answers that the shim gives in the master's place, as JSON-RPC errors under the editor's own ids.
import { fault, type RpcError } from "../protocol/reasons.ts";

/** `id` is the raw JSON value. */
export function errorFrame(id: Buffer, error: RpcError): Buffer {
  return Buffer.concat([
    Buffer.from('{"jsonrpc":"2.0","id":'),
    id,
    Buffer.from(`,"error":${JSON.stringify(error)}}\n`),
  ]);
}

/** `closed`: why the daemon, which still runs, has closed this connection. */
export function lostDaemon(closed?: string): RpcError {
  if (closed !== undefined) {
    const message = `The acp-master daemon closed this connection before it answered: ${closed}. Connect again and load the session.`;
    return fault("daemon_restarted", message);
  }
  return fault(
    "daemon_restarted",
    "The acp-master daemon ended before it answered. What it did until then is kept; send the request again if it is still wanted.",
  );
}
