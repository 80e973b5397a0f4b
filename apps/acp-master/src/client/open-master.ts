// Opens the connection that the short commands use: the daemon of this user's places, which must already run.
import { resolvePlaces } from "../config/places.ts";
import { MasterClient, type ClientOptions } from "./master-client.ts";

export type OpenOptions = Partial<Omit<ClientOptions, "socketPath">>;

/**
 * Fails with a ClientError that says what to do.
 *
 *     await using master = await openMaster();
 *     const status = await master.request("_acp-master/status", {});
 */
export function openMaster(options: OpenOptions = {}): Promise<MasterClient> {
  const { socketPath } = resolvePlaces(process.env);
  return MasterClient.connect({ name: "acp-master", role: "controller", ...options, socketPath });
}
