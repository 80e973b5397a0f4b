// The code of a system error ("ENOENT"). It never returns a message, which may hold more than a code.

export function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "unknown";
}
