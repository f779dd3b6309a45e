export * from './lanes';
export { addLineProducts, multiplyLines } from './matvec';
export { packColumns, packRows } from './pack';
export * from './panels';
