import type { Console } from './bench.ts';

const { stdout, stderr } = process;
const eraseLine = '\r\x1b[K';

/** Results to stdout, the rest to stderr. */
export const processConsole: Console = {
  out: line => stdout.write(`${line}\n`),
  error: line => stderr.write(`${line}\n`),
  // A terminal shows the latest line only; a log keeps them all.
  progress: text => {
    if (stderr.isTTY) stderr.write(eraseLine + text);
    else if (text !== '') stderr.write(`${text}\n`);
  },
};
