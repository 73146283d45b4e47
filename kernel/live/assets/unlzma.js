// Unpacks .lzma files, as specified by lzma-specification.txt of 7-Zip's SDK. A reader waits for it, so everything that
// changes with each bit is in variables of one function. No other function may touch them, or they would be kept in
// memory: pages have the body of bit in place of each call that is a line of its own (inlineBits in packing.go).
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
  const lengthOf = () => part(2 + (16 << 3) + (16 << 3) + 256); // two choices, and numbers of three, three and eight bits
  const matchLength = lengthOf(), repLength = lengthOf();
  const literals = part(0x300 << lc + lp);
  const probs = new Uint16Array(parts).fill(1024);

  const posMask = (1 << pb) - 1, litMask = (1 << lp) - 1;
  let range = -1, code = header.getInt32(14), from = 18, at = 0; // range and code are unsigned numbers of 32 bits
  let state = 0, rep0 = 0, rep1 = 0, rep2 = 0, rep3 = 0;

  // bit decodes a bit, b, by a probability, which adapts.
  let b = 0;
  const bit = (index) => {
    const p = probs[index], bound = Math.imul(range >>> 11, p);
    if ((code >>> 0) < (bound >>> 0)) {
      range = bound;
      probs[index] = p + (2048 - p >> 5);
      b = 0;
    } else {
      range = range - bound | 0;
      code = code - bound | 0;
      probs[index] = p - (p >> 5);
      b = 1;
    }
    if (range >>> 24 === 0) {
      range <<= 8;
      code = code << 8 | packed[from++];
    }
  };

  let m = 1; // the bits of a number so far, after a 1
  while (at < size) {
    const pos = at & posMask;
    bit(isMatch + (state << 4) + pos);
    if (b === 0) { // a byte by itself
      const before = at > 0 ? bytes[at - 1] : 0;
      const base = literals + 0x300 * (((at & litMask) << lc) + (before >> 8 - lc));
      m = 1;
      if (state >= 7) { // it differs from the one that a match would have given
        let match = bytes[at - rep0 - 1];
        do {
          const expected = match >> 7 & 1;
          match <<= 1;
          bit(base + (1 + expected << 8) + m);
          m = m << 1 | b;
          if (expected !== b) break;
        } while (m < 256);
      }
      while (m < 256) {
        bit(base + m);
        m = m << 1 | b;
      }
      bytes[at++] = m;
      state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
      continue;
    }

    let length = matchLength; // of the bytes to repeat, from rep0 + 1 back
    bit(isRep + state);
    if (b !== 0) {
      length = repLength;
      bit(isRepG0 + state);
      if (b === 0) {
        bit(isRep0Long + (state << 4) + pos);
        if (b === 0) {
          if (rep0 >= at) damaged("it refers to what is not there");
          state = state < 7 ? 9 : 11;
          bytes[at] = bytes[at - rep0 - 1];
          at++;
          continue;
        }
      } else {
        let distance = rep1;
        bit(isRepG1 + state);
        if (b !== 0) {
          distance = rep2;
          bit(isRepG2 + state);
          if (b !== 0) {
            distance = rep3;
            rep3 = rep2;
          }
          rep2 = rep1;
        }
        rep1 = rep0;
        rep0 = distance;
      }
    } else {
      rep3 = rep2;
      rep2 = rep1;
      rep1 = rep0;
    }

    let base = length + 2 + (pos << 3), above = 8, least = 2;
    bit(length);
    if (b !== 0) {
      bit(length + 1);
      if (b === 0) {
        base += 16 << 3;
        least = 10;
      } else {
        base = length + 2 + (32 << 3);
        above = 256;
        least = 18;
      }
    }
    for (m = 1; m < above;) {
      bit(base + m);
      m = m << 1 | b;
    }
    let n = m - above + least;

    if (length === repLength) state = state < 7 ? 8 : 11;
    else {
      state = state < 7 ? 7 : 10;
      base = slots + (Math.min(n - 2, 3) << 6);
      for (m = 1; m < 64;) {
        bit(base + m);
        m = m << 1 | b;
      }
      const slot = m - 64;
      rep0 = slot;
      if (slot >= 4) {
        let bits = (slot >> 1) - 1; // of which the lowest comes first
        rep0 = (2 | slot & 1) << bits;
        base = near + rep0 - slot;
        if (slot >= 14) { // all but four are as often 0 as 1
          let d = 0;
          for (; bits > 4; bits--) {
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
          rep0 = rep0 + (d << 4) | 0;
          base = aligned;
        }
        m = 1;
        for (let i = 0; i < bits; i++) {
          bit(base + m);
          m = m << 1 | b;
          rep0 = rep0 + (b << i) | 0;
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
