import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { loadOnnxOperators } from './table.ts';

test('the page of ONNX operators is up to date', async () => {
  const operators = await loadOnnxOperators(new Set(['com.microsoft']), ['Conv', 'MatMulInteger', 'LRN']);
  const sections = Object.entries(operators).map(([domain, own]) => {
    // If is not in the table, because its branch is chosen while the graph is built.
    const names = [...Object.keys(own), ...(domain === '' ? ['If'] : [])].sort();
    return `## ${domain || 'ai.onnx'}\n\n${names.map(name => `- ${name}`).join('\n')}\n`;
  });
  const page = `# Supported ONNX operators\n\nGenerated from the table of operators; \`docs/guide/graphs/onnx.md\` says how they are read.\n\n${sections.join('\n')}`;
  await expect(page).toMatchFileSnapshot(fileURLToPath(new URL('../../../../../ONNX.md', import.meta.url)));
});
