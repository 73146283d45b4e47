// A worker that unpacks parts one after another. It needs unlzma.js before it.
"use strict";

self.onmessage = ({ data }) => {
  try {
    const bytes = lecternUnlzma(data);
    self.postMessage({ bytes }, [bytes.buffer]);
  } catch (error) {
    self.postMessage({ broken: "a part is damaged: " + (error && error.message || error) });
  }
};
