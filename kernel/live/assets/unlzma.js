// Unpacks .lzma files, as specified by lzma-specification.txt of 7-Zip's SDK. A reader waits for it, so all that
// changes with each bit lies in variables of one function.
"use strict";

// lecternUnlzma returns the bytes that were packed, or throws an error that says what is wrong with them.
const lecternUnlzma = (packed) => {
  const damaged = (what) => { throw new Error(what); };
  if (packed.length < 18) damaged("it ends in its header");
  const header = new DataView(packed.buffer, packed.byteOffset);
  const lc = packed[0] % 9, lp = (packed[0] / 9 | 0) % 5, pb = packed[0] / 45 | 0, size = header.getUint32(5, true);
  if (packed[0] >= 225 || header.getUint32(9, true) !== 0) damaged("its header has no size");
  const bytes = new Uint8Array(size);

  // How probable it is that a bit is 0, in 2048ths. Each kind of bit has a part of the array.
  let parts = 0;
  const part = (n) => (parts += n) - n;
  const isMatch = part(12 << 4), isRep = part(12), isRepG0 = part(12), isRepG1 = part(12), isRepG2 = part(12), isRep0Long = part(12 << 4);
  const slots = part(4 << 6), near = part(128), aligned = part(16);
  const lengths = [0, 0].map(() => ({ choice: part(2), low: part(16 << 3), mid: part(16 << 3), high: part(256) }));
  const literals = part(0x300 << lc + lp);
  const probs = new Uint16Array(parts).fill(1024);

  const posMask = (1 << pb) - 1, litMask = (1 << lp) - 1;
  let range = -1, code = header.getInt32(14), from = 18, at = 0; // range and code are unsigned numbers of 32 bits
  let state = 0, rep0 = 0, rep1 = 0, rep2 = 0, rep3 = 0;

  // bit decodes a bit by the i-th probability, which adapts.
  const bit = (i) => {
    const p = probs[i], bound = Math.imul(range >>> 11, p);
    let b;
    if ((code >>> 0) < (bound >>> 0)) {
      range = bound;
      probs[i] = p + (2048 - p >> 5);
      b = 0;
    } else {
      range = range - bound | 0;
      code = code - bound | 0;
      probs[i] = p - (p >> 5);
      b = 1;
    }
    if (range >>> 24 === 0) {
      range <<= 8;
      code = code << 8 | packed[from++];
    }
    return b;
  };
  // tree decodes a number of so many bits, the highest first.
  const tree = (base, bits) => {
    let m = 1;
    for (let i = 0; i < bits; i++) m = m << 1 | bit(base + m);
    return m - (1 << bits);
  };
  // backwards decodes one whose lowest bit comes first.
  const backwards = (base, bits) => {
    let m = 1, n = 0;
    for (let i = 0; i < bits; i++) {
      const b = bit(base + m);
      m = m << 1 | b;
      n |= b << i;
    }
    return n;
  };
  // length decodes how many bytes are repeated.
  const length = (l, pos) => {
    if (bit(l.choice) === 0) return 2 + tree(l.low + (pos << 3), 3);
    if (bit(l.choice + 1) === 0) return 10 + tree(l.mid + (pos << 3), 3);
    return 18 + tree(l.high, 8);
  };

  while (at < size) {
    const pos = at & posMask;
    if (bit(isMatch + (state << 4) + pos) === 0) { // a byte by itself
      const before = at > 0 ? bytes[at - 1] : 0;
      const base = literals + 0x300 * (((at & litMask) << lc) + (before >> 8 - lc));
      let symbol = 1;
      if (state >= 7) { // it differs from the one that a match would have brought
        let match = bytes[at - rep0 - 1];
        do {
          const m = match >> 7 & 1;
          match <<= 1;
          const b = bit(base + (1 + m << 8) + symbol);
          symbol = symbol << 1 | b;
          if (m !== b) break;
        } while (symbol < 256);
      }
      while (symbol < 256) symbol = symbol << 1 | bit(base + symbol);
      bytes[at++] = symbol;
      state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
      continue;
    }
    let n; // bytes to repeat, from rep0 + 1 back
    if (bit(isRep + state) !== 0) {
      if (bit(isRepG0 + state) === 0) {
        if (bit(isRep0Long + (state << 4) + pos) === 0) {
          if (rep0 >= at) damaged("it refers to what is not there");
          state = state < 7 ? 9 : 11;
          bytes[at] = bytes[at - rep0 - 1];
          at++;
          continue;
        }
      } else {
        let distance = rep1;
        if (bit(isRepG1 + state) !== 0) {
          distance = rep2;
          if (bit(isRepG2 + state) !== 0) {
            distance = rep3;
            rep3 = rep2;
          }
          rep2 = rep1;
        }
        rep1 = rep0;
        rep0 = distance;
      }
      n = length(lengths[1], pos);
      state = state < 7 ? 8 : 11;
    } else {
      rep3 = rep2;
      rep2 = rep1;
      rep1 = rep0;
      n = length(lengths[0], pos);
      state = state < 7 ? 7 : 10;
      const slot = tree(slots + (Math.min(n - 2, 3) << 6), 6);
      rep0 = slot;
      if (slot >= 4) {
        const direct = (slot >> 1) - 1;
        rep0 = (2 | slot & 1) << direct;
        if (slot < 14) rep0 += backwards(near + rep0 - slot, direct);
        else { // bits that are as often 0 as 1
          let d = 0;
          for (let i = direct - 4; i > 0; i--) {
            range >>>= 1;
            code = code - range | 0;
            const borrow = code >> 31;
            code = code + (range & borrow) | 0;
            d = (d << 1) + (borrow + 1);
            if (range >>> 24 === 0) {
              range <<= 8;
              code = code << 8 | packed[from++];
            }
          }
          rep0 = rep0 + (d << 4) + backwards(aligned, 4) | 0;
        }
      }
    }
    if (rep0 < 0 || rep0 >= at) damaged("it refers to what is not there");
    if (n > size - at) n = size - at;
    for (let i = at - rep0 - 1, end = at + n; at < end;) bytes[at++] = bytes[i++];
  }
  if (from > packed.length) damaged("its end is missing");
  return bytes;
};
