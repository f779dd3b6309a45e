import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Tensor, type TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import { fromOnnx } from '@tilewise/graph/onnx';
import type { ConformanceCase, Outcome } from '../../cases/case.ts';
import { unsupportedIfRefused } from '../../cases/refusal.ts';
import { engineNames, openTensorEngine } from '../../engines/engines.ts';
import { SetupError, type Suite } from '../../suite.ts';
import { caseFolders, dataSets, modelFile, weightsBeside } from './case-files.ts';
import { compareTensors } from './compare.ts';
import { type ExportedModel, exportedModels, runExported } from './exported-models.ts';
import { runTraining, trainingChecksOf } from './exported-training.ts';

/**
 * ONNX models: the cases of ONNX's backend tests, which have one node each, and whole models that exporters
 * wrote.
 */
export const onnx: Suite = {
  name: 'onnx',
  summary: "ONNX's operator tests and exported models; the error is in units of the tolerance",
  options: {
    cases: { value: 'DIR', meaning: "folders of ONNX's backend tests, at any depth" },
    models: { value: 'DIR', meaning: 'folders with an exported.onnx and an expected.safetensors' },
    model: { value: 'FILE', meaning: 'one exported model, with --expected' },
    expected: { value: 'FILE', meaning: 'inputs, labels, logits and gradients of --model, as safetensors' },
    engine: { value: 'NAME', meaning: 'the engine to test', choices: engineNames },
  },
  async open({ cases, models, model, expected, engine: name = '' }) {
    if ([cases, models, model].filter(option => option !== undefined).length !== 1)
      throw new SetupError('onnx: give exactly one of --cases, --models and --model.');
    if ((model === undefined) !== (expected === undefined))
      throw new SetupError('onnx: --model and --expected belong together.');
    const exported =
      model !== undefined && expected !== undefined
        ? [{ name: basename(model), model, expected, checkpoint: [] }]
        : models === undefined
          ? []
          : exportedModels(models);
    const folders = cases === undefined ? [] : caseFolders(cases);
    const engine = await openTensorEngine(name);
    const run: RunOnEngine = use => unsupportedIfRefused(() => engine.run(use));
    return {
      cases: [
        ...folders.map(
          (folder): ConformanceCase => ({
            name: folder,
            run: () => run(own => runCase(join(cases ?? '', folder), own)),
          }),
        ),
        ...exported.map(
          (one): ConformanceCase => ({
            name: one.name,
            run: () => run(own => runExported(one, own)),
          }),
        ),
        ...(await trainingCases(exported, run)),
      ],
      close: () => engine.close(),
    };
  },
};

/** Runs a case on the engine; a case that the library refuses is unsupported. */
type RunOnEngine = (
  use: <T extends TensorDesc>(engine: TensorEngine<T>) => Promise<Outcome>,
) => Promise<Outcome>;

/** Training of the exported models that are in the folder of a checkpoint. */
async function trainingCases(models: readonly ExportedModel[], run: RunOnEngine): Promise<ConformanceCase[]> {
  const cases: ConformanceCase[] = [];
  for (const { name, model, folder } of models) {
    if (folder === undefined) continue;
    // The case of the model itself fails if its expected results cannot be read.
    for (const [what, check] of await trainingChecksOf(folder).catch(() => []))
      cases.push({
        name: `${name}/${what}`,
        run: () => run(own => runTraining(check, { model, folder }, own)),
      });
  }
  return cases;
}

async function runCase<T extends TensorDesc>(folder: string, engine: TensorEngine<T>): Promise<Outcome> {
  const fail = (reason: string): Outcome => ({ status: 'fail', error: null, reason });
  const file = modelFile(folder);
  const model = await fromOnnx(readFileSync(file), { externalData: weightsBeside(file) });
  const unsupportedInput = model.inputs.find(({ dtype }) => dtype === null);
  if (unsupportedInput)
    return {
      ...{ status: 'unsupported', error: null },
      reason: `input '${unsupportedInput.name}' is not a tensor of a dtype that engines support`,
    };
  const sets = dataSets(folder);
  if (sets.length === 0) return fail('the folder has no test_data_set_0');
  let worst: Outcome = { status: 'pass', error: 0, reason: null };
  for (const { inputs, outputs } of sets) {
    const given = inputs();
    const feeds = Object.fromEntries(
      model.inputs.flatMap(({ name }, n) => (given[n] ? [[name, given[n]]] : [])),
    );
    const results = await model.run(engine, feeds);
    const wanted = outputs();
    if (wanted.length > model.outputs.length)
      return fail(
        `there are expected values of ${wanted.length} outputs, and the model has ${model.outputs.length}`,
      );
    for (const [n, name] of model.outputs.entries()) {
      const expected = wanted[n];
      const own = results[name];
      if (!expected) return fail(`there is no expected value of '${name}'`);
      if (!own) return fail(`the model gave no '${name}'`);
      const got = own instanceof Tensor ? own : await engine.download(own);
      const outcome = compareTensors(name, got, expected);
      if (outcome.status === 'fail') return outcome;
      if ((outcome.error ?? 0) > (worst.error ?? 0)) worst = outcome;
    }
  }
  model.release();
  return worst;
}
