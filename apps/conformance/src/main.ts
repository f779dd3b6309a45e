import { argumentsOfCaseProcess, serveCases } from './cases/case-process.ts';
import { parseCommand } from './command/command-line.ts';
import { conformance } from './command/conformance.ts';
import { suites } from './suites/index.ts';

const { stdout, stderr } = process;
const eraseLine = '\r\x1b[K';
const [, program, ...args] = process.argv;
const others = argumentsOfCaseProcess(args);

if (others) {
  const { suite, options } = parseCommand(others, suites);
  serveCases((await suite.open(options)).cases);
} else {
  const console = {
    out: (line: string) => stdout.write(`${line}\n`),
    error: (line: string) => stderr.write(`${line}\n`),
    ...(stdout.isTTY && stderr.isTTY && { status: (text: string) => stderr.write(eraseLine + text) }),
  };
  process.exitCode = await conformance(args, suites, console, program);
}
