import { readFile, writeFile } from 'node:fs/promises';
import { examineDevice } from '@tilewise/device-report/measure';
import { openGpu } from '@tilewise/webgpu-host';
import { processConsole } from '../bench/console.ts';
import { deviceReportCommand } from './command.ts';

// Dawn keeps the process alive, so the exit code is set and the process ends once everything has been
// written.
const code = await deviceReportCommand(process.argv.slice(2), {
  console: processConsole,
  read: file => readFile(file, 'utf8'),
  write: (file, text) => writeFile(file, text),
  async examine(settings, tell) {
    const gpu = settings.engine === 'cpu' ? undefined : (await openGpu()).gpu;
    return examineDevice(settings, { name: `Node ${process.version}`, gpu }, tell);
  },
});
process.stdout.write('', () => process.exit(code));
