/** The README of an export. */
export function readme(name: string, trains: boolean): string {
  const gradients = trains
    ? `
\`\`\`py
from ${name}.parallel import loss_and_gradients

step = loss_and_gradients(model, mesh=(2, 4))    # 2 devices along the batch, 4 along the sequence
loss, gradients = step(parameters, inputs)       # both by name; seeds are ints
\`\`\`

All devices must have equal parts: the batch divides by the first number, the sequence by twice the second (by the number itself with
\`order="contiguous"\`). Every device has all parameters. The optimizer is yours.
`
    : '';
  return `# ${name}

A graph of Tilewise as a package of JAX. It needs JAX and nothing else.

\`\`\`py
from ${name} import model
from ${name}.parallel import Place
from ${name}.safetensors import load_safetensors

parameters = load_safetensors("${name}/weights.safetensors")[0]        # where there are parameters, see PARAMETERS
results = model.forward(Place(model.EXTENTS), parameters, ...)        # inputs by name, see INPUTS
\`\`\`
${gradients}
| file | holds |
|---|---|
| \`model.py\` | the graph: one or a few lines for each operation |
| \`attention\` | attention over a sequence that is cut over devices: keys and values go round a ring by \`ppermute\` |
| \`philox.py\` | dropout masks from the index of an element in the whole tensor, so that no sharding changes them |
| \`parallel.py\` | what part of a tensor each device has, gradients over the mesh |
| \`operations.py\` | operations that JAX lacks |
| \`safetensors.py\` | reading files of weights |

A device keeps q, k, v, o and lse of its own positions for the backward pass, S / W of the sequence on each of W devices, and never scores
of more than 512 × 512. The package was run on the CPU, on one to eight devices of the host; it was not run on a GPU or TPU.
`;
}
