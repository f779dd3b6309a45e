import type { AdapterReport, CheckReport, Diagnosis, VariantReport } from './diagnosis.ts';

type Verdict = Pick<Diagnosis, 'status' | 'verdict'>;

/** The advice where there is no WebGPU at all, by where it was looked for. */
export function missingWebGpu(where: string, advice: string): Verdict {
  return { status: 'missing', verdict: `There is no WebGPU in ${where}: ${advice}.` };
}

export const missingAdapter: Verdict = {
  status: 'missing',
  verdict:
    'WebGPU has no adapter here: install or update the GPU driver (on Linux a Vulkan one), see chrome://gpu in a browser, ' +
    'and until then use the CPU engine of @tilewise/core.',
};

export function missingDevice(reason: string): Verdict {
  return {
    status: 'missing',
    verdict: `The adapter gave no device (${reason}): close other programs that use the GPU, or restart the browser.`,
  };
}

/** The sentence for a device that was tried. */
export function verdictOf(
  adapter: AdapterReport,
  variants: readonly VariantReport[],
  checks: readonly CheckReport[],
): Verdict {
  const failed = checks.find(({ error, allowed }) => !(error <= allowed));
  if (failed) {
    const what = failed.failure ?? `it is off by ${failed.error.toExponential(1)}`;
    return {
      status: 'wrong',
      verdict:
        `Attention is not right on this device (${failed.name}: ${what}): update the GPU driver or the browser, use the CPU ` +
        'engine of @tilewise/core meanwhile, and report this with the output of --json.',
    };
  }
  if (adapter.software) {
    return {
      status: 'slow',
      verdict:
        'Attention is right, but a CPU plays the GPU here: it is good for tests; for speed install the driver of a GPU, and ' +
        'see that the browser uses it (chrome://gpu).',
    };
  }
  const lacking = variants.filter(({ enabled }) => !enabled).length;
  const limit =
    lacking > 0
      ? ` ${lacking} of ${variants.length} combinations of options need more storage buffers than this device has; checkSupport says which.`
      : '';
  return { status: 'ok', verdict: `Attention runs on this GPU, forward and backward, and is right.${limit}` };
}
