const { Tensor } = require('@tilewise/core');
const { sdpa } = require('@tilewise/core/cpu');

for (const name of ['philox', 'graph', 'nn', 'webgpu']) require(`@tilewise/${name}`);
const x = Tensor.zeros([1, 1, 4, 8]);
if (sdpa(x, x, x).o.shape.length !== 4) throw new Error('attention gave no result');
console.log('ok');
