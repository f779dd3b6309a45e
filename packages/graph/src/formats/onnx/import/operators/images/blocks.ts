import { type OnnxOperator, result } from '../../node-call.ts';

/** Moves blocks of channels into the image: each block of b² numbers becomes b × b pixels. */
const depthToSpace: OnnxOperator = call => {
  const { type, shape, tensor } = call.input(0);
  const [B = 1, C = 1, height = 1, width = 1] = shape;
  const b = call.int('blocksize', 0);
  const depth = C / (b * b);
  if (!Number.isInteger(depth)) call.fail(`cannot divide ${C} channels into blocks of ${b} × ${b}`);
  const isColumns = call.text('mode', 'DCR') === 'CRD';
  const split = isColumns ? [depth, b, b] : [b, b, depth];
  return result({ type, shape: [B, depth, height * b, width * b] }, () => {
    const { draft } = call;
    const blocks = draft.reshape(tensor(), [B, ...split, height, width]);
    const pixels = draft.transpose(blocks, isColumns ? [0, 1, 4, 2, 5, 3] : [0, 3, 4, 1, 5, 2]);
    return draft.reshape(pixels, [B, depth, height * b, width * b]);
  });
};

/** Moves each block of b × b pixels into b² channels; version 28 has the attribute `mode`. */
const spaceToDepth: OnnxOperator = call => {
  const { type, shape, tensor } = call.input(0);
  const [B = 1, C = 1, ...image] = shape;
  const b = call.int('blocksize', 0);
  const [rows = 0, columns = 0] = image.map(extent => extent / b);
  if (!Number.isInteger(rows) || !Number.isInteger(columns))
    call.fail(`cannot divide an image of [${image}] into blocks of ${b} × ${b}`);
  return result({ type, shape: [B, C * b * b, rows, columns] }, () => {
    const { draft } = call;
    const blocks = draft.reshape(tensor(), [B, C, rows, b, columns, b]);
    const order = call.text('mode', 'DCR') === 'CRD' ? [0, 1, 3, 5, 2, 4] : [0, 3, 5, 1, 2, 4];
    return draft.reshape(draft.transpose(blocks, order), [B, C * b * b, rows, columns]);
  });
};

/** Operators between pixels and channels. */
export const blockOperators: Readonly<Record<string, OnnxOperator>> = {
  DepthToSpace: depthToSpace,
  SpaceToDepth: spaceToDepth,
};
