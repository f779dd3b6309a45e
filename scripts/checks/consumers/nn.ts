import type {
  Batch,
  CreateOptions,
  GenerateOptions,
  LoadOptions,
  LoraConfig,
  ParameterGroup,
  TrainerOptions,
  TrainOptions,
} from '@tilewise/nn';
import type { ReadOptions } from '@tilewise/nn/checkpoint';
import type { HubOptions } from '@tilewise/nn/hub';
import { type Closed, none } from './optional.ts';

none<Closed<ReadOptions>>();
none<Closed<HubOptions>>();
none<Closed<LoadOptions<never>>>();
none<Closed<Batch>>();
none<Closed<GenerateOptions>>();
none<Closed<CreateOptions<never>>>();
none<Closed<TrainerOptions>>();
none<Closed<TrainOptions>>();
none<Closed<ParameterGroup>>();
none<Closed<LoraConfig>>();
none<Closed<NonNullable<TrainerOptions['optimizer']>>>();
