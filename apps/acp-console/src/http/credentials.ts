// Finds the secrets in a request's headers. It judges none.

/** `Bearer SECRET`; an empty one is none. */
export function bearer(header: string | undefined): string | undefined {
  return /^Bearer ([\w-]{1,512})$/.exec(header ?? "")?.[1];
}

/** Every cookie of this name, in the order in which the browser sent them. */
export function cookiesOf(header: string | undefined, name: string): string[] {
  return (header ?? "")
    .split(/;\s*/)
    .filter((each) => each.startsWith(`${name}=`))
    .map((each) => each.slice(name.length + 1))
    .slice(0, 8);
}
