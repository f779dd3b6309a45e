import { runCommand } from './command/command.ts';

const { argv, stdout: out, stderr: error, env } = process;
process.exitCode = await runCommand(argv.slice(2), { out, error, env });
