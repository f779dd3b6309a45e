export { type DiagnoseOptions, diagnose } from './diagnose.ts';
export type {
  AdapterReport,
  CheckReport,
  Diagnosis,
  LimitReport,
  Status,
  TileComparison,
  VariantReport,
} from './diagnosis.ts';
export { formatDiagnosis } from './format.ts';
