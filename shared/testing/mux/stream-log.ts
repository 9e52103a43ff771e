import type { RopewayError } from "../../errors.ts";
import type { MuxStream } from "../../mux/stream/stream.ts";
import type { HeaderField } from "../../wire/frame.ts";

/** Becomes a stream's owner and writes down what it is told. Consumes nothing unless told to. */
export class StreamLog {
  readonly stream: MuxStream;
  readonly events: string[] = [];
  fields: readonly HeaderField[] = [];
  bytes = 0;
  error: RopewayError | null = null;

  constructor(stream: MuxStream, consume = false) {
    this.stream = stream;
    stream.handler = {
      onHead: (fields, end) => {
        this.fields = fields;
        this.events.push(end ? "head+end" : "head");
      },
      onData: (chunk) => {
        this.bytes += chunk.length;
        this.events.push(`data ${chunk.length}`);
        if (consume) stream.consumed(chunk.length);
      },
      onEnd: () => this.events.push("end"),
      onReset: (error) => {
        this.error = error;
        this.events.push("reset");
      },
    };
  }
}
