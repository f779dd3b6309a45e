import type { Suite } from '../suite.ts';
import { attention } from './attention/suite.ts';
import { cudnn } from './cudnn/suite.ts';
import { models } from './models/suite.ts';
import { onednn } from './onednn/suite.ts';
import { onnx } from './onnx/suite.ts';
import { philox } from './philox/suite.ts';
import { pytorch } from './pytorch/suite.ts';

/** Every suite. To add one, add a folder beside this file and a line here. */
export const suites: readonly Suite[] = [attention, cudnn, models, onednn, onnx, philox, pytorch];
