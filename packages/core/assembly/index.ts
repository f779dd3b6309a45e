export * from './dropout';
export * from './lines';
export * from './multiply';
export * from './pack';
export * from './rows';
export * from './scores';
export * from './softmax';
