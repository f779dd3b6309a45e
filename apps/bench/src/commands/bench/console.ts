import type { Console } from './bench.ts';

const { stdout, stderr } = process;
const eraseLine = '\r\x1b[K';

/** Writes results to stdout, and the rest to stderr. */
export const processConsole: Console = {
  out: line => stdout.write(`${line}\n`),
  error: line => stderr.write(`${line}\n`),
  // A terminal shows only the latest line; a log keeps all of them.
  progress: text => {
    if (stderr.isTTY) stderr.write(eraseLine + text);
    else if (text !== '') stderr.write(`${text}\n`);
  },
};
