// A client that measures: it parses what it must and only counts the rest.
const END_OF_TURN = Buffer.from('"stopReason"');
const LF = 10;

export class Peer {
  /** Bytes received. */
  received = 0;
  #input;
  #output;
  #lastId = 0;
  #waiting = new Map();
  #rest = [];
  #counting;

  /** @param input what the other side writes. @param output what it reads. */
  constructor(input, output) {
    this.#input = input;
    this.#output = output;
    input.on("data", (chunk) => this.#hear(chunk));
  }

  request(method, params) {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.send({ id, method, params });
    });
  }

  send(message) {
    this.#output.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  initialize(agent, extra = {}) {
    const _meta = { "acp-master": { agent, ...extra } };
    return this.request("initialize", { protocolVersion: 1, clientCapabilities: {}, _meta });
  }

  async newSession(cwd) {
    const { sessionId } = await this.request("session/new", { cwd, mcpServers: [] });
    return sessionId;
  }

  /** With all that is kept of it. */
  async remove(sessionId) {
    await this.request("session/close", { sessionId });
    await this.request("session/delete", { sessionId });
  }

  prompt(sessionId, text) {
    return this.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  }

  /** Counts bytes, without looking for lines, until the turn's answer has come or `bytes` bytes. Resolves to the number of bytes. */
  count(bytes = Infinity) {
    return new Promise((resolve) => {
      this.#counting = { bytes, from: this.received, tail: Buffer.alloc(0), resolve };
    });
  }

  /** A whole stream: seconds from the prompt to the last byte. */
  async stream(sessionId, bytes, count, kind = "plain", { reencoded = false } = {}) {
    const from = performance.now();
    const counted = this.count();
    this.prompt(sessionId, `stream ${bytes} ${count} ${kind}`).catch(() => {});
    const got = await counted;
    // Who parses and writes again spells escapes in another way.
    if (!reencoded && got < bytes * count) throw new Error(`${got} bytes came of ${bytes * count}`);
    return (performance.now() - from) / 1e3;
  }

  pause() {
    this.#input.pause();
  }

  resume() {
    this.#input.resume();
  }

  #hear(chunk) {
    this.received += chunk.length;
    if (this.#counting) this.#count(chunk);
    else this.#read(chunk);
  }

  #count(chunk) {
    const counting = this.#counting;
    counting.tail = chunk.length >= 512 ? chunk.subarray(-512) : Buffer.concat([counting.tail, chunk]).subarray(-512);
    const got = this.received - counting.from;
    if (got < counting.bytes && !counting.tail.includes(END_OF_TURN)) return;
    // The rest of a line would be taken for a line.
    if (chunk[chunk.length - 1] !== LF) return;
    this.#counting = undefined;
    // The answer that ended the count was one of ours.
    this.#waiting.clear();
    counting.resolve(got);
  }

  #read(chunk) {
    for (let at = 0; at < chunk.length;) {
      const end = chunk.indexOf(LF, at);
      if (end === -1) {
        this.#rest.push(chunk.subarray(at));
        return;
      }
      const line = Buffer.concat([...this.#rest, chunk.subarray(at, end)]).toString();
      this.#rest = [];
      at = end + 1;
      // Some programs end a line twice.
      if (line.trim() !== "") this.#take(JSON.parse(line));
    }
  }

  #take(message) {
    if (message.method === "session/request_permission") {
      this.send({ id: message.id, result: { outcome: { outcome: "selected", optionId: "allow" } } });
    } else if (message.method === undefined) {
      const waiting = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      if (message.error) waiting?.reject(new Error(`${message.error.code}: ${message.error.message}`));
      else waiting?.resolve(message.result);
    }
  }
}
