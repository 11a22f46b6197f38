#include "screen.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>

#define COLUMNS_DEFAULT 80
#define COLUMNS_MAX 65535 /* a terminal cannot tell more */

/* COLUMNS as a shell sets it: anything but a number from 1 to COLUMNS_MAX is ignored. */
static unsigned columns_of_environment(void)
{
    const char *text = getenv("COLUMNS");
    unsigned columns = 0;
    for (; text && *text >= '0' && *text <= '9' && columns <= COLUMNS_MAX; text++)
        columns = columns * 10 + (unsigned)(*text - '0');
    return text && !*text && columns > 0 && columns <= COLUMNS_MAX ? columns : COLUMNS_DEFAULT;
}

static bool locale_has_utf8(void)
{
    locale_t user = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    if (user == (locale_t)0)
        return false;
    bool utf8 = strcmp(nl_langinfo_l(CODESET, user), "UTF-8") == 0;
    freelocale(user);
    return utf8;
}

struct screen screen_of(int fd)
{
    struct winsize size = {0};
    bool is_terminal = ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return (struct screen){
        .columns = is_terminal ? size.ws_col : columns_of_environment(),
        .utf8 = locale_has_utf8(),
    };
}
