export {
  type Machine,
  type Measurement,
  type MeasureSettings,
  type MeasureSize,
  measuredShapes,
} from './attention/measurement.ts';
export { type ComparedRow, compareReports, measurementName } from './report/compare-reports.ts';
export {
  type AttentionReport,
  type DeviceReport,
  deviceName,
  type PeakReport,
  reportJson,
  teraflops,
} from './report/device-report.ts';
export { reportMarkdown } from './report/markdown.ts';
export { parseReport } from './report/parse-report.ts';
export {
  attainable,
  type Ceiling,
  type Roofline,
  type RooflinePoint,
  rooflineOf,
} from './report/roofline.ts';
