import { inputGradientTools } from '../kernels/backward/input-gradients.ts';
import { captureGradientTools } from '../mods/capture-gradients.ts';

/** The kernels of gradients that many backward calls do not compute. */
export const optionalGradients: {
  readonly input: typeof inputGradientTools;
  readonly capture: typeof captureGradientTools;
} = { input: inputGradientTools, capture: captureGradientTools };
