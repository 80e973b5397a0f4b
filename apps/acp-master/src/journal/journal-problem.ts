// What people are told about a journal that cannot be written. It names no content.

export function problemText(folder: string, code: string, memoryBytes: number): string {
  const remedy =
    code === "in_the_way" || code === "ENOTDIR" || code === "ELOOP"
      ? "Remove what stands in its place"
      : "Free space there, or make the folder writable";
  return (
    `The journal in ${folder} cannot be written (${code}). The session goes on in memory, with its last ` +
    `${Math.ceil(memoryBytes / 1024 / 1024)} MiB at most. ${remedy}; nothing needs to be restarted.`
  );
}
