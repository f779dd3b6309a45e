import { diagnose, formatDiagnosis } from '@tilewise/webgpu/doctor';
import { openGpu } from '@tilewise/webgpu-host';

const { gpu, source, toggles } = await openGpu();
const diagnosis = await diagnose({ gpu, source: [source, ...toggles].join(', ') });
process.stdout.write(`${formatDiagnosis(diagnosis)}\n`);
process.exitCode = diagnosis.status === 'ok' || diagnosis.status === 'slow' ? 0 : 1;
