import type { Device } from './roofline.ts';

/**
 * Some devices, by their makers' data sheets: dense 16-bit matrix arithmetic with 32-bit sums in TFLOP/s,
 * memory in GB/s. The laptop is a round figure for integrated graphics.
 */
export const devices = {
  'H100 SXM': { peak: 989, bandwidth: 3350 },
  'A100 80 GB': { peak: 312, bandwidth: 2039 },
  'RTX 4090': { peak: 165, bandwidth: 1008 },
  MI300X: { peak: 1307, bandwidth: 5300 },
  laptop: { peak: 4, bandwidth: 100 },
} as const satisfies Readonly<Record<string, Device>>;

export type DeviceName = keyof typeof devices;
