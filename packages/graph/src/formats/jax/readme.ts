/** The README of an exported package. */
export function readme(name: string, trains: boolean): string {
  const gradients = trains
    ? `
\`\`\`py
from ${name}.parallel import loss_and_gradients

step = loss_and_gradients(model, mesh=(2, 4))    # 2 devices along the batch, 4 along the sequence
loss, gradients = step(parameters, inputs)       # both by name; seeds are ints
\`\`\`

All devices must have equal parts: the batch must be divisible by the first number, and the sequence by twice the second (by the second itself with
\`order="contiguous"\`). Every device has all parameters. Use any optimizer.
`
    : '';
  return `# ${name}

A Tilewise graph as a JAX package. It needs only JAX.

\`\`\`py
from ${name} import model
from ${name}.parallel import Place
from ${name}.safetensors import load_safetensors

parameters = load_safetensors("${name}/weights.safetensors")[0]        # only with parameters: see PARAMETERS
results = model.forward(Place(model.EXTENTS), parameters, ...)        # inputs by name: see INPUTS
\`\`\`
${gradients}
| file | holds |
|---|---|
| \`model.py\` | the graph: one or a few lines per operation |
| \`attention\` | attention over a sequence that is sharded over devices: keys and values travel around a ring by \`ppermute\` |
| \`philox.py\` | dropout masks that depend only on the index of an element in the whole tensor, so that sharding does not change them |
| \`parallel.py\` | the part of each tensor that a device has, and gradients over the mesh |
| \`operations.py\` | operations that JAX lacks |
| \`safetensors.py\` | reads weight files |

For the backward pass, each of W devices stores q, k, v, o and lse of its own S / W positions, and never scores
of more than 512 × 512. The package was tested on the CPU, with one to eight host devices, but not on a GPU or TPU.
`;
}
