import { measurePeak } from '@tilewise/device-report/measure';
import { openWebGpu, toggleOption } from '../../gpu/open-webgpu.ts';
import type { Suite } from '../../suite/suite.ts';

/** The peak of the adapter. */
export const peak: Suite = {
  name: 'peak',
  summary:
    'the best matrix product in f32, f16 and subgroup matrices, and copy bandwidth, as far as hand-written WGSL gets',
  options: toggleOption,
  async run(options, progress) {
    const bench = await openWebGpu(options);
    try {
      const { size, matmuls, gigabytesPerSecond, clock, destroy } = await measurePeak(
        bench.ctx,
        bench.peakWork,
        progress,
      );
      destroy();
      const more = { timer: clock, ...bench.label };
      return [
        ...matmuls.map(({ precision, kernel, ms, tflops }) => ({
          ...{ what: `matmul ${size}³`, precision, kernel, ms, 'TFLOP/s': tflops, 'GB/s': '', ...more },
        })),
        {
          what: 'copy',
          precision: '',
          kernel: '',
          ms: '',
          'TFLOP/s': '',
          'GB/s': gigabytesPerSecond,
          ...more,
        },
      ];
    } finally {
      await bench.close();
    }
  },
};
