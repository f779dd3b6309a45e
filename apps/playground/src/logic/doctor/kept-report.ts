import { type DeviceReport, parseReport, reportJson } from '@tilewise/device-report';

const key = 'tilewise.device-report';

/** The last report that this browser made, or null. */
export function keptReport(): DeviceReport | null {
  try {
    const text = localStorage.getItem(key);
    return text === null ? null : parseReport(text);
  } catch {
    // Storage is forbidden, or the stored text is not a report.
    return null;
  }
}

/** Stores a report for the next visit. */
export function keepReport(report: DeviceReport): void {
  try {
    localStorage.setItem(key, reportJson(report));
  } catch {
    // Storage is full or forbidden; the page shows the report all the same.
  }
}
