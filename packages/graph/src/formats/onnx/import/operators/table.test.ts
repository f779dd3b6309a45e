import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { onnxOperators } from './table.ts';

test('the page of ONNX operators is up to date', async () => {
  const sections = Object.entries(onnxOperators).map(([domain, operators]) => {
    // If is not in the table, because its branch is chosen while the graph is built.
    const names = [...Object.keys(operators), ...(domain === '' ? ['If'] : [])].sort();
    return `## ${domain || 'ai.onnx'}\n\n${names.map(name => `- ${name}`).join('\n')}\n`;
  });
  const page = `# Supported ONNX operators\n\nGenerated from the table of operators; \`docs/guide/graphs/onnx.md\` says how they are read.\n\n${sections.join('\n')}`;
  await expect(page).toMatchFileSnapshot(fileURLToPath(new URL('../../../../../ONNX.md', import.meta.url)));
});
