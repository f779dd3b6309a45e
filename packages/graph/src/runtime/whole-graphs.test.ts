import { cpuEngine } from '@tilewise/core/cpu';
import { referenceEngine } from '@tilewise/core/reference';
import { test } from 'vitest';
import { expectClose } from '../../testing/compare/expect-same.ts';
import { randomGraph } from '../../testing/random/random-graph.ts';

test('60 random graphs give the same compiled as a whole and one operation at a time', {
  timeout: 120_000,
}, async () => {
  for (let seed = 1; seed <= 60; seed++) {
    const { graph, bindings } = randomGraph(seed);
    const expected = await graph.run(referenceEngine(), bindings, { policy: 'debug' });
    const inputs = Object.fromEntries(
      Object.entries(bindings).flatMap(([id, bound]) =>
        typeof bound === 'object' ? [[id, { shape: bound.shape, strides: bound.strides }]] : [],
      ),
    );
    for (const engine of [referenceEngine(), cpuEngine()]) {
      const compiled = graph.compile(engine, { inputs });
      expectClose(await compiled.execute(bindings), expected, 2e-5, `${engine.name}, graph ${seed}`);
      compiled.release();
    }
  }
});
