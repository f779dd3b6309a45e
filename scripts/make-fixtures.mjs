// Copies the selection of the full data sets that is committed into fixtures/, so that a fresh clone can test
// everything at least once.
//   node scripts/make-fixtures.mjs [folder of the full sets; TILEWISE_SHARED or ../shared by default]
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const shared = resolve(process.argv[2] ?? process.env.TILEWISE_SHARED ?? join(root, '..', 'shared'));

// The smallest cases that together cover every option, every kind of dead row and every kind of stress.
const attention = [
  'tiny_1x1x1x1',
  'single_key',
  'mqa_5_1_dv',
  'causal_tl_short_q',
  'causal_fa_23x56_d15_br',
  'window_right_only',
  'window_tl_4_1',
  'bias_1_1_sq_1',
  'bias_neg_inf_entries',
  'mask_dead_head',
  'alibi_causal_br_rect',
  'softcap_2_saturated',
  'softcap_bias',
  'scale_zero',
  'sink_dead_rows',
  'dropout_05_causal_gqa',
  'kvlens_zero',
  'lens_window_br',
  'varlen_empty_seq_br',
  'dlse_causal_dead_rows_gqa',
  'dlse_only_do_zero',
  'large_logits',
  'one_hot_softmax',
  'large_v_and_do',
];

const nameOf = file => file.replace(/^\d+_(.+)\.json$/, '$1');

copy(
  join(shared, 'vectors', 'attention', 'cases'),
  'attention',
  file => attention.includes(nameOf(file)),
  attention.length,
);
copy(join(shared, 'vectors', 'philox'), 'philox', file => file.endsWith('.json'));
copyBlockMasks();

// Every seventh case: seven divides neither the number of masks nor the number of shapes, so all of both are
// included.
function copyBlockMasks() {
  const { cases, ...rest } = JSON.parse(
    readFileSync(join(shared, 'conformance', 'pytorch', 'block-masks.json'), 'utf8'),
  );
  const some = cases.filter((_, n) => n % 7 === 0).map(one => JSON.stringify(one));
  const to = join(root, 'fixtures', 'pytorch');
  mkdirSync(to, { recursive: true });
  const head = JSON.stringify(rest).slice(0, -1);
  writeFileSync(join(to, 'block-masks.json'), `${head},"cases":[\n${some.join(',\n')}\n]}\n`);
  console.log(`fixtures/pytorch: ${some.length} of ${cases.length} block masks`);
}

function copy(from, name, wanted, count) {
  const to = join(root, 'fixtures', name);
  const files = readdirSync(from).filter(wanted);
  if (count !== undefined && files.length !== count)
    throw new Error(`${from} has ${files.length} of ${count} cases.`);
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to, { recursive: true });
  for (const file of files) writeFileSync(join(to, file), readFileSync(join(from, file)));
  const bytes = files.reduce((sum, file) => sum + statSync(join(to, file)).size, 0);
  console.log(`fixtures/${name}: ${files.length} files, ${Math.round(bytes / 1024)} KiB`);
}
