import { conformance } from './conformance.ts';
import { suites } from './suites/index.ts';

const { stdout, stderr } = process;
const eraseLine = '\r\x1b[K';

process.exitCode = await conformance(process.argv.slice(2), suites, {
  out: line => stdout.write(`${line}\n`),
  error: line => stderr.write(`${line}\n`),
  ...(stdout.isTTY && stderr.isTTY && { status: (text: string) => stderr.write(eraseLine + text) }),
});
