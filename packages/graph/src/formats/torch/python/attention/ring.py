"""The ranks that share a sequence, and the messages from each rank to the next."""

import torch.distributed as dist


class Ring:
    """The ranks that share a sequence, in the order in which keys and values travel."""

    def __init__(self, group=None):
        has_group = group is not None and dist.is_initialized()
        self.group = group if has_group else None
        self.rank = dist.get_rank(group) if has_group else 0
        self.size = dist.get_world_size(group) if has_group else 1

    def rotate(self, sent, received, tag):
        """Starts to send to the next rank and to receive from the previous one. Returns the works to wait
        for; keep `sent` alive until they are done.
        """
        after, before = (self.rank + 1) % self.size, (self.rank - 1) % self.size
        return dist.batch_isend_irecv(
            [
                dist.P2POp(dist.isend, sent, group=self.group, group_peer=after, tag=tag),
                dist.P2POp(dist.irecv, received, group=self.group, group_peer=before, tag=tag),
            ]
        )
