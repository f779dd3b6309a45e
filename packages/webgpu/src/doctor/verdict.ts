import type { AdapterReport, CheckReport, Diagnosis, VariantReport } from './diagnosis.ts';

type Verdict = Pick<Diagnosis, 'status' | 'verdict'>;

/** The verdict if there is no WebGPU at all: where it was looked for, and advice. */
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

/** The verdict for a device that was tried. */
export function verdictOf(
  adapter: AdapterReport,
  variants: readonly VariantReport[],
  checks: readonly CheckReport[],
): Verdict {
  const failed = checks.find(({ error, allowed }) => !(error <= allowed));
  if (failed) {
    const what = failed.failure ?? `off by ${failed.error.toExponential(1)}`;
    return {
      status: 'wrong',
      verdict:
        `Attention does not work correctly on this device (${failed.name}: ${what}): update the GPU driver or the browser, use the CPU ` +
        'engine of @tilewise/core meanwhile, and report this with the output of --json.',
    };
  }
  if (adapter.software) {
    return {
      status: 'slow',
      verdict:
        'Attention works correctly, but on a software adapter, which runs on the CPU: good enough for tests. For speed, install a ' +
        'GPU driver; in a browser, chrome://gpu says whether it uses the GPU.',
    };
  }
  const lacking = variants.filter(({ enabled }) => !enabled).length;
  const limit =
    lacking > 0
      ? ` ${lacking} of ${variants.length} combinations of options need more storage buffers than this device has; checkSupport says which.`
      : '';
  return { status: 'ok', verdict: `Attention works correctly on this GPU, forward and backward.${limit}` };
}
