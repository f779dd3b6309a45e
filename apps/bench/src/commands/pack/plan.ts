import { type MeasureOptions, measurements } from './measurements.ts';
import type { Step } from './step.ts';

/** The toggle without which Dawn has no subgroup matrices. */
const unsafeApis = 'allow_unsafe_apis';

/**
 * The measurements of a GPU, the most important first, because the time may run out at any step: whether
 * results are right, how fast f32 is with the features that browsers offer and f16 with all features, and
 * PyTorch for comparison; then the rest, such as PyTorch's dropout masks bit for bit, with tuning last,
 * because no other step needs its result.
 */
export function planMeasurement(options: MeasureOptions): Step[] {
  const { toggles } = options;
  const { doctor, peak, train, decode, memory, overhead, start, dropout, ...steps } = measurements(options);
  const { attention, conformance, matmul, tuning, torch } = steps;
  const toggled = (step: Step): Step =>
    toggles === '' ? step : { ...step, name: `toggled-${step.name}`, env: { TILEWISE_TOGGLES: toggles } };
  const names = toggles.split(',');
  const withoutMatrices: Step[] = names.includes(unsafeApis)
    ? [
        {
          ...{ ...attention('f16'), name: 'attention-f16-without-matrices' },
          env: { TILEWISE_TOGGLES: names.filter(name => name !== unsafeApis).join() },
        },
      ]
    : [];
  const plan = [
    doctor,
    attention('f32'),
    toggled(attention('f16')),
    ...torch('torch', 'flash,efficient,cudnn,math'),
    toggled(decode),
    ...withoutMatrices,
    ...dropout,
    // Subgroup matrices only take f16 operands.
    toggled(conformance('f16')),
    conformance('f32'),
    ...[toggled(matmul('f16')), matmul('f32'), toggled(train)],
    ...memory,
    ...[peak, toggled(peak), toggled(doctor)],
    ...[attention('f16'), decode],
    ...[overhead, start],
    ...torch('torch-flex', 'flex'),
    ...['f32', 'f16'].map(dtype => toggled(tuning(dtype))),
  ];
  // Without toggles, some steps occur twice.
  return plan.filter(({ name }, n) => plan.findIndex(step => step.name === name) === n);
}
