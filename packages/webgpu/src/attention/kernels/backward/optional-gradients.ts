import { captureGradientTools } from '../../mods/capture-gradient-tools.ts';
import { inputGradientTools } from './input-gradients.ts';

/** The kernels of gradients that many backward calls do without. */
export const optionalGradients: {
  readonly input: typeof inputGradientTools;
  readonly capture: typeof captureGradientTools;
} = { input: inputGradientTools, capture: captureGradientTools };
