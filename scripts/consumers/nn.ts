import type { ReadOptions } from '@tilewise/nn/checkpoint';
import type { HubOptions } from '@tilewise/nn/hub';
import { type Closed, none } from './optional.ts';

none<Closed<ReadOptions>>();
none<Closed<HubOptions>>();
