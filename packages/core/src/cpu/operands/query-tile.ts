/** A tile of query rows: `rows` queries, from i0 on, of head h of sequence b. */
export interface QueryTile {
  readonly b: number;
  readonly h: number;
  readonly i0: number;
  readonly rows: number;
}
