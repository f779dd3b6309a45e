export * from './scores/dropout';
export { addProduct, addTransposedProduct, multiplyScores } from './products/multiply';
export { packColumns, packRows } from './products/pack';
export { decodeBf16, decodeF16, encodeBf16, encodeF16 } from './vector/half';
export * from './rows';
export * from './scores/scores';
export * from './scores/softcap';
export * from './scores/softmax';
