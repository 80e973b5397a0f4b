// Which place of the page the address names, behind its #.
// The compiler checks that the switch is exhaustive, which the lint rule does not see.
// oxlint-disable typescript/consistent-return

export type Place =
  { readonly at: "start" } | { readonly at: "inbox" } | { readonly at: "session"; readonly sessionId: string };

export function placeOfHash(hash: string): Place {
  if (hash === "#inbox") return { at: "inbox" };
  const [, encoded] = /^#session=(.+)$/.exec(hash) ?? [];
  if (encoded === undefined) return { at: "start" };
  try {
    return { at: "session", sessionId: decodeURIComponent(encoded) };
  } catch {
    return { at: "start" }; // no legal encoding, so no id that this page wrote
  }
}

export function hashOf(place: Place): string {
  switch (place.at) {
    case "start":
      return "#";
    case "inbox":
      return "#inbox";
    case "session":
      return `#session=${encodeURIComponent(place.sessionId)}`;
  }
}

/** The one-time token of an address that `acp-master console` printed; of a whole address or of its hash alone. */
export function tokenOf(address: string): string | undefined {
  return /#token=([A-Za-z0-9_-]+)\s*$/.exec(address)?.[1];
}
