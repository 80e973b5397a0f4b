// The two ends at which the JSON-RPC library takes and gives messages: whole ones, within the call.
import {
  AbstractMessageReader,
  AbstractMessageWriter,
  type DataCallback,
  type Disposable,
  type Message,
} from "vscode-jsonrpc/node";
import type { BoundedOutput } from "./bounded-output.ts";
import { encodeMessage } from "./message-content.ts";

const written = Promise.resolve();
const listening: Disposable = { dispose() {} };

export class MessageSink extends AbstractMessageWriter {
  readonly #output: BoundedOutput;

  constructor(output: BoundedOutput) {
    super();
    this.#output = output;
  }

  write(message: Message): Promise<void> {
    const body = encodeMessage(message);
    this.#output.write(Buffer.from(`Content-Length: ${body.length}\r\n\r\n`, "latin1"), body);
    return written;
  }

  end(): void {
    this.#output.end();
  }
}

export class MessageSource extends AbstractMessageReader {
  deliver: DataCallback = () => {};

  listen(callback: DataCallback): Disposable {
    this.deliver = callback;
    return listening;
  }
}
