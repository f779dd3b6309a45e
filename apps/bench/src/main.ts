import { bench } from './bench.ts';
import { suites } from './suites/index.ts';

const { stdout, stderr } = process;
const eraseLine = '\r\x1b[K';

process.exitCode = await bench(process.argv.slice(2), suites, {
  out: line => stdout.write(`${line}\n`),
  error: line => stderr.write(`${line}\n`),
  // A terminal shows the latest line only; a log keeps them all.
  progress: text => {
    if (stderr.isTTY) stderr.write(eraseLine + text);
    else if (text !== '') stderr.write(`${text}\n`);
  },
});
