import { runCommand } from './command/command.ts';

process.exitCode = await runCommand(process.argv.slice(2), {
  out: process.stdout,
  error: process.stderr,
  env: process.env,
});
