// What is packed as .lzma becomes bytes again. The package exports a function that has to guess how many: here the header says it.
import { Decoder } from "./node_modules/lzma1/lib/decoder.js";
import { InputBuffer, OutputBuffer } from "./node_modules/lzma1/lib/streams.js";

globalThis.lecternUnlzma = (packed) => {
  const size = new DataView(packed.buffer, packed.byteOffset).getUint32(5, true);
  const output = new OutputBuffer(size);
  new Decoder().decompress(new InputBuffer(packed), output);
  if (output.count !== size) throw new Error(`${output.count} bytes came out, not ${size}`);
  return output.buf;
};
