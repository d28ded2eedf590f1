#include "bench/contestant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Contestant *field_add(Field *field, Side side, const char *name)
{
    if (field->count == CONTESTANTS)
        return NULL;
    Contestant *contestant = &field->list[field->count++];
    *contestant = (Contestant){0};
    snprintf(contestant->score.name, sizeof contestant->score.name, "%s", name);
    contestant->score.side = side;
    contestant->score.judged = side == SIDE_OURS;
    return contestant;
}

void field_clear(Field *field)
{
    for (size_t i = 0; i < field->count; i++) {
        Contestant *contestant = &field->list[i];
        if (contestant->graph)
            (void)cudaGraphExecDestroy(contestant->graph);
        if (contestant->close)
            contestant->close(contestant->state);
        free(contestant->seconds);
    }
    field->count = 0;
}

void contestant_drop(Contestant *contestant)
{
    contestant->score.ran = false;
    snprintf(contestant->score.note, sizeof contestant->score.note, "%.*s", NOTE_SIZE - 1,
             gf_message());
}

bool name_listed(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; at && *at;) {
        size_t part = strcspn(at, ",");
        if (part == length && strncmp(at, name, length) == 0)
            return true;
        at += part + (at[part] == ',');
    }
    return false;
}
